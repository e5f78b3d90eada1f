// Everything is drawn once, then waits for the reader.
document
    .querySelectorAll('[data-swatch]')
    .forEach((element) => element.prepend(swatch(...element.dataset.swatch.split(' ').map(Number))));
startSpeech(drawLinks);
startTree();
startCategories();
startRecord();
startExport();

// Links to a card work for cards that are not in the page yet.
document
    .querySelectorAll('a[href^="#category-"]')
    .forEach((link) => link.addEventListener('click', () => revealCard(Number(link.hash.slice('#category-'.length)))));

// The part in view is marked in the navigation.
const links = new Map([...document.querySelectorAll('.parts a')].map((link) => [link.hash.slice(1), link]));
const watcher = new IntersectionObserver(
    (entries) => {
        for (const entry of entries) {
            if (!entry.isIntersecting) continue;
            links.forEach((link) => link.removeAttribute('aria-current'));
            links.get(entry.target.id).setAttribute('aria-current', 'true');
        }
    },
    { rootMargin: '-30% 0px -60% 0px' },
);
links.forEach((_, id) => watcher.observe(byId(id)));
addEventListener('beforeprint', () => {
    cardView.most = DATA.categories.length;
    showCards();
    document.querySelectorAll('details.whole').forEach((part) => {
        part.open = true;
    });
});
