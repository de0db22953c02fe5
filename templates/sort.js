(() => {
  "use strict";
  // Tables of class "sortable": a button in each head sorts by its column. Unknown values stay last.
  const compareText = new Intl.Collator("en", { numeric: true }).compare;
  document.querySelectorAll("table.sortable").forEach((table) => {
    const body = table.tBodies[0];
    const heads = [...table.tHead.rows[0].cells];
    const rows = [...body.rows].map((element, place) => ({ element, place }));
    const key = (row, column) => {
      const cell = row.element.cells[column];
      const value = cell.dataset.v ?? cell.textContent;
      if (value === "") return null;
      return heads[column].dataset.kind === "number" ? Number(value) : value;
    };
    const sort = (column, descending) => {
      const keys = new Map(rows.map((row) => [row, key(row, column)]));
      const direction = descending ? -1 : 1;
      const sorted = [...rows].sort((a, b) => {
        const [x, y] = [keys.get(a), keys.get(b)];
        if (x === null || y === null) return (x === null) - (y === null) || a.place - b.place;
        return direction * (typeof x === "number" ? x - y : compareText(x, y)) || a.place - b.place;
      });
      body.append(...sorted.map((row) => row.element));
      heads.forEach((head, place) => {
        if (place === column) head.setAttribute("aria-sort", descending ? "descending" : "ascending");
        else head.removeAttribute("aria-sort");
      });
    };
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const now = head.getAttribute("aria-sort");
        sort(column, now === null ? head.dataset.kind === "number" : now === "ascending");
      });
    });
  });
})();
