var e=localStorage.getItem("sextant.theme");(e==="dark"||e==="light")&&(document.documentElement.dataset.theme=e);
