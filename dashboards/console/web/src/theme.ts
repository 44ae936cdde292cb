// Runs before the first paint, so that no page flashes in the theme that nobody chose.
const chosen = localStorage.getItem("sextant.theme");
if (chosen === "dark" || chosen === "light") document.documentElement.dataset.theme = chosen;
export {};
