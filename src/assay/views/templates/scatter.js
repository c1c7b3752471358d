for (const plot of document.querySelectorAll(".assay .scatter:not([data-ready])")) {
  plot.dataset.ready = "1";
  const field = plot.querySelector("input"), found = plot.querySelector("output"), dots = [...plot.querySelectorAll("g.dot-of")];
  const say = (hits) => { found.textContent = hits.slice(0, 8).map((dot) => `${dot.dataset.name} (${dot.dataset.at})`).join("; ") + (hits.length > 8 ? ` and ${hits.length - 8} more` : ""); };
  field.addEventListener("input", () => {
    const wanted = field.value.trim().toLowerCase();
    const hits = wanted ? dots.filter((dot) => dot.dataset.name.toLowerCase().includes(wanted)) : [];
    plot.classList.toggle("searching", wanted !== "");
    for (const dot of dots) dot.classList.toggle("hit", hits.includes(dot));
    say(hits);
    if (wanted && !hits.length) found.textContent = "no such word";
  });
  plot.querySelector("svg").addEventListener("pointerover", (event) => { const dot = event.target.closest("g.dot-of"); if (dot) say([dot]); });
}
