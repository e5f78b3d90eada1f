"""Files that hold no table that telltree reads: known by name and first bytes, and refused with a remedy."""

import os
import zlib
from contextlib import suppress

from telltree.data.files.opening import GZIP, HEAD, PARQUET, File
from telltree.errors import DataError

PARQUET_NAMES = (".parquet", ".pq")
_ARFF = (
    "an ARFF file; the UCR and UEA archives have the same data as .ts files, which are read; others can be saved as "
    "CSV, such as by pandas.DataFrame(scipy.io.arff.loadarff(path)[0]).to_csv(...)"
)
_PAGE = "a web page (HTML), perhaps of an error or a login, and not the data; download the file again"
_NAMES = {  # how a path may end -> what such a file is, and what to do
    ".arff": _ARFF,
    ".xlsx": "an Excel workbook; save its sheet as CSV",
    ".xls": "an Excel workbook; save its sheet as CSV",
    ".ods": "a spreadsheet; save its sheet as CSV",
    ".json": "JSON; read it with pandas.read_json, and hand in the dataframe",
    ".jsonl": "JSON; read it with pandas.read_json(path, lines=True), and hand in the dataframe",
    ".feather": "an Arrow file; read it with pandas.read_feather, and hand in the dataframe",
    ".arrow": "an Arrow file; read it with pandas.read_feather, and hand in the dataframe",
    ".mat": "a MATLAB file; read it with scipy.io.loadmat, and hand in the arrays",
    ".npy": "a NumPy array; read it with numpy.load, and hand in the array with a layout",
    ".npz": "NumPy arrays; read them with numpy.load, and hand in the arrays with a layout",
    ".h5": "an HDF5 file; read it with pandas.read_hdf or h5py, and hand in what it holds",
    ".hdf5": "an HDF5 file; read it with pandas.read_hdf or h5py, and hand in what it holds",
    ".pkl": "a pickle, which may run any code; load it yourself if you trust it, and hand in what it holds",
    ".zip": "a ZIP archive; unpack it first",
    ".tar": "a TAR archive; unpack it first",
}
_BYTES = {  # how a file may begin -> the same; of what text may begin like, `refuse_foreign_text` decides
    b"PK\x03\x04": "a ZIP archive, or an Excel workbook; unpack it, or save its sheet as CSV",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook; save its sheet as CSV",
    b"\x89HDF": _NAMES[".h5"],
    b"\x93NUMPY": _NAMES[".npy"],
    b"ARROW1": _NAMES[".arrow"],
    b"FEA1": _NAMES[".feather"],
    b"%PDF": "a PDF document; save its tables as CSV",
    b"\x89PNG": "a picture",
    b"BZh": "packed by bzip2; unpack it, or pack it by gzip",
    b"\xfd7zXZ": "packed by xz; unpack it, or pack it by gzip",
    b"\x28\xb5\x2f\xfd": "packed by zstd; unpack it, or pack it by gzip",
}
_PAGES = ("<!doctype html", "<html", "<head", "<body")


def refuse_foreign(file: File) -> None:
    """Raise a DataError if the name of a file, or its first bytes, say that it is none that can be read."""
    packed = file.head()
    head = _unpacked(packed) if packed.startswith(GZIP) else packed
    suffix = os.path.splitext(file.name.strip("'\"").lower().removesuffix(".gz"))[1]
    parquet = head.startswith(PARQUET)
    found = next((what for begin, what in _BYTES.items() if head.startswith(begin)), None)
    if found is None and not parquet:
        found = _NAMES.get(suffix)
    if found is not None:
        raise DataError(f"cannot read {file.name}: it is {found}")
    if parquet and head is not packed:
        raise DataError(f"cannot read {file.name}: it is Parquet, packed by gzip; unpack it first")
    if suffix in PARQUET_NAMES and not parquet:
        refuse_foreign_text(head.decode("utf-8", "replace"), file)
        what = "does not begin as a Parquet file does; if it is CSV, call it .csv, else" if head else "is empty;"
        raise DataError(f"cannot read {file.name}: its name says Parquet, but it {what} write or fetch it again")


def _unpacked(packed: bytes) -> bytes:
    """The first bytes of what was packed by gzip; none if that is damaged."""
    with suppress(zlib.error):
        return zlib.decompressobj(wbits=31).decompress(packed, HEAD)
    return b""


def refuse_foreign_text(text: str, file: File) -> None:
    """Raise a DataError if the first lines of a text are those of a web page, or of a format that is not read."""
    begin = text.lstrip("\ufeff \t\r\n").lower()
    found = None
    if begin.startswith(_PAGES):
        found = _PAGE
    elif begin.startswith("<?xml"):
        found = "XML; read it with pandas.read_xml, and hand in the dataframe"
    elif begin.startswith("@relation"):
        found = _ARFF
    if found is not None:
        raise DataError(f"cannot read {file.name}: it is {found}")
