(() => {
  "use strict";
  // The document contains only the jobs that are shown: with the runs of thousands, the browser would take long to look
  // for the next link, or for the text to find, in all of them.
  const FIRST = 3;
  const sections = [...document.querySelectorAll("section.job")];
  if (sections.length <= FIRST) return;
  const parent = sections[0].parentElement;
  const end = document.createElement("p");
  const button = document.createElement("button");
  const shown = document.createElement("p");
  button.type = "button";
  button.textContent = `Show ${FIRST} more`;
  end.append(button);
  shown.className = "note";
  shown.setAttribute("role", "status");
  sections[0].before(shown);
  sections.at(-1).after(end);

  // Links find a job by the ids of its parts.
  const jobOf = new Map();
  for (const section of sections) {
    jobOf.set(section.id, section);
    for (const part of section.querySelectorAll("[id]")) jobOf.set(part.id, section);
  }
  const opened = new Set();
  let most = FIRST;
  const show = () => {
    const listed = new Set([...[...opened].reverse(), ...sections.slice(0, most)]);
    for (const section of sections) if (!listed.has(section)) section.remove();
    for (const section of listed) parent.insertBefore(section, end);
    end.hidden = most >= sections.length;
    shown.textContent = `Showing ${listed.size} of ${sections.length} jobs. A link in the table opens others.`;
  };
  const reveal = () => {
    let id = location.hash.slice(1);
    try {
      id = decodeURIComponent(id);
    } catch {
      // No id of this page has such characters.
    }
    const job = jobOf.get(id);
    if (!job) return;
    if (!job.isConnected) {
      opened.delete(job);
      opened.add(job);
      show();
    }
    const target = document.getElementById(id);
    for (let outer = target; outer; outer = outer.parentElement) if (outer.tagName === "DETAILS") outer.open = true;
    target.scrollIntoView();
    if (target.hasAttribute("tabindex")) target.focus({ preventScroll: true });
    reachFlags(job);
  };
  button.addEventListener("click", () => { most += FIRST; show(); });
  addEventListener("hashchange", reveal);
  show();
  reveal();
})();
