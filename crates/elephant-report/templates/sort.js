"use strict";
// Tables that are sorted by a button in each head.
const tables = (() => {
  // Text in an order that plain comparison keeps, numbers by their value. A collator would take half a second for
  // 10,000 names.
  const inOrder = (text) =>
    text.trim().normalize("NFKD").toLowerCase().replace(/\d+/g, (digits) => digits.padStart(20, "0"));
  // Unknown values are last in both directions.
  const compare = (x, y, descending) => {
    if (x === null || y === null) return (x === null) - (y === null);
    return (descending ? -1 : 1) * ((x > y) - (x < y));
  };
  // The value that a row is sorted by; null if it is unknown.
  const key = (row, head, column) => {
    const cell = row.cells[column];
    const value = cell.dataset.v ?? cell.textContent;
    if (value === "") return null;
    return head.dataset.kind === "number" ? Number(value) : inOrder(value);
  };
  // Entries have an element and their first place.
  const sorted = (entries, head, column, descending) => {
    const keys = new Map(entries.map((entry) => [entry, key(entry.element, head, column)]));
    return [...entries].sort((a, b) => compare(keys.get(a), keys.get(b), descending) || a.place - b.place);
  };
  const mark = (heads, column, descending) => heads.forEach((head, place) => {
    if (place === column) head.setAttribute("aria-sort", descending ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  });
  const onSort = (heads, sort) => heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const now = head.getAttribute("aria-sort");
      sort(column, now === null ? head.dataset.kind === "number" : now === "ascending");
    });
  });
  const makeSortable = (table) => {
    const body = table.tBodies[0];
    const heads = [...table.tHead.rows[0].cells];
    const entries = [...body.rows].map((element, place) => ({ element, place }));
    onSort(heads, (column, descending) => {
      body.append(...sorted(entries, heads[column], column, descending).map((entry) => entry.element));
      mark(heads, column, descending);
    });
  };
  document.querySelectorAll("table.sortable").forEach(makeSortable);
  return { makeSortable, mark, onSort, sorted };
})();
// A flag that is wider than its line scrolls, so that the keyboard must reach it. To measure flags that are not laid out
// would lay them out.
const reachFlags = (part) => {
  const isLaidOut = (flag) => flag.checkVisibility?.({ contentVisibilityAuto: true }) ?? true;
  const flags = [...part.querySelectorAll(".flag")].filter(isLaidOut);
  const wide = flags.map((flag) => flag.scrollWidth > flag.clientWidth);
  flags.forEach((flag, place) => {
    if (wide[place]) flag.tabIndex = 0;
    else flag.removeAttribute("tabindex");
  });
};
// Not before all scripts have run: until then, the details of all applications may be in the document.
["load", "resize"].forEach((event) => addEventListener(event, () => reachFlags(document)));
// Folded parts are laid out when they are opened.
addEventListener("toggle", (event) => reachFlags(event.target), true);
