"""Draws the pictures of docs/encounters.md: run `python docs/draw_encounters.py` with matplotlib installed."""

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.patches import Patch

from telltree.datasets.encounters import ADVISORIES, CODES, Encounters, advised, make_encounters

IMAGES = Path(__file__).with_name("images")
COLOURS = ("#e8ecf1", "#9ecae1", "#fdd0a2", "#4292c6", "#fd8d3c", "#2171b5", "#e6550d", "#08306b", "#a63603")
"""Of the advisories by their numbers: blue for down, orange for up, darker for stronger."""
LINE = "#5b6673"
EACH = 3  # examples of a family


def draw_policy(target: Path) -> None:
    """What is advised over relative height and time: level, descending towards each other, climbing."""
    heights, seconds = np.linspace(-1000, 1000, 401), np.linspace(1, 40, 157)
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.4), sharey=True, layout="constrained")
    titles = ("both level", "intruder descends at 25 ft/s", "own aircraft climbs at 15 ft/s")
    for ax, own, intruder, title in zip(axes, (0, 0, 15), (0, -25, 0), titles, strict=True):
        found = advised(heights[:, None], seconds[None], own, intruder)
        numbers = sum(number * (found == code) for number, code in enumerate(CODES))
        norm = BoundaryNorm(np.arange(len(CODES) + 1) - 0.5, len(CODES))
        ax.pcolormesh(seconds, heights, numbers, cmap=ListedColormap(COLOURS), norm=norm, rasterized=True)
        ax.set(title=title, xlabel="time to loss of separation (s)")
        ax.invert_xaxis()
    axes[0].set_ylabel("intruder over own aircraft (ft)")
    first = zip(COLOURS[:5], ADVISORIES, strict=False)  # no other advisory comes first
    patches = [Patch(facecolor=colour, edgecolor=LINE, label=name) for colour, name in first]
    figure.legend(handles=patches, loc="outside right upper", frameon=False)
    figure.savefig(target, dpi=110)
    plt.close(figure)


def draw_families(encounters: Encounters, target: Path) -> None:
    """Altitude against time: for each family some encounters, those that end in an NMAC first."""
    panel, y, family = encounters
    names = list(dict.fromkeys(("straight", "level-off", *np.unique(family).tolist())))
    figure, axes = plt.subplots(len(names), EACH, figsize=(10, 2.1 * len(names)), layout="constrained", sharex=True)
    for row, name in zip(axes, names, strict=True):
        near, safe = (np.flatnonzero((family == name) & (y == end)) for end in ("NMAC", "safe"))
        alerted = [i for i in safe if panel.values("active_1", i).any()]
        chosen = [*near[: EACH - 1], *alerted][:EACH]
        for ax, i in zip(row, chosen, strict=True):
            draw_encounter(ax, encounters, i)
            ax.set_title(f"{name}: {y[i]}", fontsize=9, color="#b2182b" if y[i] == "NMAC" else "black")
    for ax in axes[-1]:
        ax.set_xlabel("time (s)")
    for row in axes:
        row[0].set_ylabel("altitude (ft)")
    groups = (("no advisory", LINE), ("down", COLOURS[3]), ("down, strengthened", COLOURS[7]))
    groups += (("up", COLOURS[4]), ("up, strengthened", COLOURS[8]))
    lines = [plt.Line2D([], [], color=colour, lw=3, label=label) for label, colour in groups]
    lines += [plt.Line2D([], [], color="black", marker="*", ls="", label="pilot follows")]
    figure.legend(handles=lines, loc="outside lower center", ncols=6, frameon=False, fontsize=9)
    figure.savefig(target, dpi=80)
    plt.close(figure)


def draw_encounter(ax: Axes, encounters: Encounters, i: int) -> None:
    """Both aircraft of one encounter, coloured by advisory."""
    panel = encounters.panel
    seconds = np.arange(panel.lengths[i])
    distance = np.mean([panel.values(f"range_{number}", i) for number in (1, 2)], axis=0)
    ax.axvline(seconds[distance.argmin()], color="#c8ced6", lw=1, zorder=0)
    for number in (1, 2):
        altitude, target = panel.values(f"altitude_{number}", i), panel.values(f"target_rate_{number}", i)
        sense, strong = panel.values(f"sense_{number}", i), panel.values(f"strengthening_{number}", i)
        for t in seconds[:-1]:
            up, firm = sense[t] == 1, strong[t] or abs(target[t]) > 30
            colour = LINE if sense[t] == 0 else COLOURS[(8 if firm else 4) if up else (7 if firm else 3)]
            ax.plot(seconds[t : t + 2], altitude[t : t + 2], color=colour, lw=2.2, solid_capstyle="round")
        follows = panel.values(f"responding_{number}", i).astype(bool)
        ax.plot(seconds[follows], altitude[follows], "*", color="black", ms=3.5)
        ax.text(-1.5, altitude[0], str(number), ha="right", va="center", fontsize=8)
    ax.robustness(x=0.07, y=0.12)
    ax.tick_params(labelsize=8)


if __name__ == "__main__":
    mpl.use("agg")
    IMAGES.mkdir(exist_ok=True)
    draw_policy(IMAGES / "encounters-policy.png")
    draw_families(make_encounters(400, 80), IMAGES / "encounters-families.png")
