(() => {
  "use strict";
  // The table contains only the rows that are shown, because thousands of rows would make every change slow.
  const FIRST = 50;
  const MORE = 200;
  const byId = (id) => document.getElementById(id);
  const table = byId("index");
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const rows = [...body.rows].map((element, place) => ({ element, place }));
  const cell = (row, column) => row.element.cells[column];
  const text = (row, column) => cell(row, column).textContent;
  const number = (row, column) => {
    const value = cell(row, column).dataset.v;
    return value === "" ? null : Number(value);
  };
  const COLUMN = { severity: 0, user: 2, queue: 3, engine: 4, rules: 5 };
  for (const row of rows) {
    row.text = row.element.textContent.toLowerCase();
    row.severity = number(row, COLUMN.severity);
    row.user = text(row, COLUMN.user);
    row.queue = text(row, COLUMN.queue);
    row.engine = text(row, COLUMN.engine);
    const rules = text(row, COLUMN.rules);
    row.rules = rules === "" ? [] : rules.split(", ");
  }

  const fill = (id, values) => {
    const select = byId(id);
    const known = [...new Set(values)].filter((value) => value !== "").sort();
    const option = (value, label) => {
      const element = document.createElement("option");
      element.value = value;
      element.textContent = label.length > 60 ? label.slice(0, 60) + "…" : label;
      return element;
    };
    select.replaceChildren(option("", "all"), ...known.map((value) => option(value, value)));
  };
  fill("f-engine", rows.map((row) => row.engine));
  fill("f-rule", rows.flatMap((row) => row.rules));
  fill("f-user", rows.map((row) => row.user));
  fill("f-queue", rows.map((row) => row.queue));

  let order = rows;
  let most = FIRST;
  let matching = rows;

  const matches = () => {
    const wanted = byId("f-text").value.toLowerCase().split(/\s+/).filter((word) => word !== "");
    const severity = Number(byId("f-severity").value);
    const [engine, rule, user, queue] = ["f-engine", "f-rule", "f-user", "f-queue"].map((id) => byId(id).value);
    return (row) =>
      row.severity >= severity &&
      (engine === "" || row.engine === engine) &&
      (rule === "" || row.rules.includes(rule)) &&
      (user === "" || row.user === user) &&
      (queue === "" || row.queue === queue) &&
      wanted.every((word) => row.text.includes(word));
  };

  const count = (value) => value.toLocaleString("en-US");
  const show = () => {
    const shown = matching.slice(0, most);
    body.replaceChildren(...shown.map((row) => row.element));
    byId("more").hidden = shown.length === matching.length;
    byId("shown").textContent =
      `Showing ${count(shown.length)} of ${count(matching.length)} matching rows (${count(rows.length)} in total).`;
  };
  const update = () => {
    most = FIRST;
    matching = order.filter(matches());
    show();
  };

  const compareText = new Intl.Collator("en", { numeric: true }).compare;
  const sort = (column, descending) => {
    const numeric = heads[column].dataset.kind === "number";
    const keys = new Map(rows.map((row) => [row, numeric ? number(row, column) : text(row, column)]));
    const direction = descending ? -1 : 1;
    order = [...rows].sort((a, b) => {
      const [x, y] = [keys.get(a), keys.get(b)];
      const unknown = (value) => value === null || value === "";
      if (unknown(x) || unknown(y)) return unknown(x) - unknown(y) || a.place - b.place;
      return direction * (numeric ? x - y : compareText(x, y)) || a.place - b.place;
    });
    heads.forEach((head, place) => {
      if (place === column) head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    update();
  };
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const now = head.getAttribute("aria-sort");
      const first = head.dataset.kind === "number";
      sort(column, now === null ? first : now === "ascending");
    });
  });

  let timer;
  byId("f-text").addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(update, 80);
  });
  const selects = [...byId("filters").querySelectorAll("select")];
  selects.forEach((select) => select.addEventListener("change", update));
  byId("f-clear").addEventListener("click", () => {
    byId("f-text").value = "";
    selects.forEach((select) => { select.selectedIndex = 0; });
    update();
    byId("f-text").focus();
  });
  byId("more-rows").addEventListener("click", () => { most += MORE; show(); });

  // Rule pages are folded. A link to a rule page unfolds it.
  const reveal = () => {
    const target = byId(decodeURIComponent(location.hash.slice(1)));
    const folded = target && target.closest("details");
    if (folded && !folded.open) {
      folded.open = true;
      target.scrollIntoView();
    }
  };
  addEventListener("hashchange", reveal);
  addEventListener("beforeprint", () => { body.replaceChildren(...matching.map((row) => row.element)); });
  addEventListener("afterprint", show);

  byId("filters").hidden = false;
  byId("rows").classList.add("ready");
  // When the user navigates back to the page, the browser fills in the controls again.
  addEventListener("pageshow", update);
  update();
  reveal();
})();
