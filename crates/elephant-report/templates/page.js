(() => {
  "use strict";
  // The document contains only what is shown: thousands of rows and details would make every key press slow, because
  // the browser looks for the next link, or the text to find, in all of them.
  const FIRST = 50;
  const MORE = 200;
  const FIRST_DETAILS = 3;
  const PRINTED_ROWS = 500;
  const UNKNOWN = "(unknown)";
  const byId = (id) => document.getElementById(id);
  const count = (value) => value.toLocaleString("en-US");

  // With scripts, the browser reads the details as text, which takes a tenth of the time that all their elements would. Each
  // is made when it is shown.
  const list = byId("detail-list");
  const source = byId("all-details").textContent;
  const starts = [...source.matchAll(/<article class="app[^>]*? id="([^"]+)"/g)];
  const details = starts.map((start, place) => ({ id: start[1], from: start.index, to: starts[place + 1]?.index, made: null }));
  const articles = new Map(details.map((detail) => [detail.id, detail]));
  const parser = new DOMParser();
  const parsed = (detail) =>
    parser.parseFromString(source.slice(detail.from, detail.to), "text/html").body.firstElementChild;
  const made = (detail) => (detail.made ??= parsed(detail));

  const table = byId("index");
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const columnOf = (name) => heads.findIndex((head) => head.dataset.key === name);
  const cell = (row, column) => row.element.cells[column];
  const text = (row, column) => cell(row, column).textContent;
  const number = (row, column) => {
    const value = cell(row, column).dataset.v;
    return value === "" ? null : Number(value);
  };
  const SEVERITY = columnOf("severity");
  const NAME = columnOf("name");
  const COLUMN = Object.fromEntries(["user", "queue", "engine", "rules"].map((name) => [name, columnOf(name)]));
  const rows = [...body.rows].map((element, place) => {
    const row = { element, place, words: null };
    // Searching each row by a selector would take a third of the time in which the page opens.
    const link = element.cells[NAME].firstElementChild;
    row.detail = link.hash ? articles.get(link.hash.slice(1)) : undefined;
    row.severity = number(row, SEVERITY);
    row.job = element.dataset.job;
    row.day = element.dataset.day ?? UNKNOWN;
    row.user = text(row, COLUMN.user) || UNKNOWN;
    row.queue = text(row, COLUMN.queue) || UNKNOWN;
    row.engine = text(row, COLUMN.engine);
    const rules = text(row, COLUMN.rules);
    row.rules = rules === "" ? [] : rules.split(", ");
    return row;
  });
  body.replaceChildren();

  // What the text filter searches: the row, and what is wrong with the application.
  const wordsOf = (row) => {
    if (row.words === null) {
      // A selector would look through all charts and evidence.
      const children = row.detail ? (row.detail.made ?? parsed(row.detail)).children : [];
      const parts = [...children].filter((part) => part.classList.contains("finding"));
      row.words = [row.element, ...parts].map((part) => part.textContent).join(" ").toLowerCase();
    }
    return row.words;
  };
  // Collected a few at a time, so that the first key press in the filter need not wait for all.
  const whenIdle = window.requestIdleCallback ? (run) => requestIdleCallback(run) : (run) => setTimeout(run, 20);
  let collected = 0;
  const collectFor = (time) => {
    const until = performance.now() + time;
    for (; collected < rows.length && performance.now() < until; collected += 1) wordsOf(rows[collected]);
    return collected === rows.length;
  };
  const collect = () => { if (!collectFor(20)) whenIdle(collect); };
  // A search before all are collected waits for the rest, and lets key presses through.
  const afterCollecting = (run) => {
    if (collectFor(40)) run();
    else setTimeout(afterCollecting, 0, run);
  };

  // The filters, by their name in the address.
  const control = (name) => byId(`f-${name}`);
  const SELECTS = ["severity", "engine", "rule", "user", "queue", "job", "day"];
  const fill = (name, values, order) => {
    const known = [...new Set(values)].filter((value) => value).sort(order);
    const option = (value, label) => {
      const element = document.createElement("option");
      element.value = value;
      element.textContent = label.length > 60 ? label.slice(0, 60) + "…" : label;
      return element;
    };
    control(name).replaceChildren(option("", "all"), ...known.map((value) => option(value, value)));
  };
  fill("rule", rows.flatMap((row) => row.rules));
  for (const name of ["engine", "user", "queue", "job"]) fill(name, rows.map((row) => row[name]));
  fill("day", rows.map((row) => row.day), (a, b) => (a < b ? 1 : -1));

  // Makes the table of phases sortable, once it is shown.
  const prepared = new Set();
  const prepare = (article) => {
    if (prepared.has(article)) return;
    prepared.add(article);
    article.querySelectorAll("table.phases").forEach(tables.makeSortable);
    article.addEventListener("contentvisibilityautostatechange", (event) => {
      if (!event.skipped) reachFlags(article);
    });
  };
  const section = byId("details");

  let order = rows;
  let most = FIRST;
  let mostDetails = FIRST_DETAILS;
  let matching = rows;
  const opened = new Set();

  const matches = () => {
    const wanted = control("text").value.toLowerCase().split(/\s+/).filter((word) => word !== "");
    const severity = Number(control("severity").value);
    const rule = control("rule").value;
    const equal = ["engine", "user", "queue", "job", "day"].map((name) => [name, control(name).value]);
    const chosen = equal.filter(([, value]) => value !== "");
    return (row) =>
      row.severity >= severity &&
      (rule === "" || row.rules.includes(rule)) &&
      chosen.every(([name, value]) => row[name] === value) &&
      wanted.every((word) => wordsOf(row).includes(word));
  };

  const show = () => {
    const shown = matching.slice(0, most);
    body.replaceChildren(...shown.map((row) => row.element));
    told();
  };
  const told = () => {
    const shown = Math.min(most, matching.length);
    byId("more").hidden = shown === matching.length;
    byId("shown").textContent =
      `Showing ${count(shown)} of ${count(matching.length)} matching rows (${count(rows.length)} in total).`;
  };
  const showDetails = () => {
    const wanted = [];
    let left = 0;
    for (const { detail } of matching) {
      if (!detail) continue;
      if (wanted.length < mostDetails) wanted.push(detail);
      else left += 1;
    }
    // Opened applications come first: the reader asked for them.
    const asked = [...opened].reverse();
    const others = wanted.filter((detail) => !opened.has(detail));
    list.replaceChildren(...[...asked, ...others].map(made));
    [...list.children].forEach(prepare);
    // Paper gets an application whole if the reader chose it.
    section.classList.toggle("chosen", asked.length > 0 || list.children.length === 1);
    byId("more-details").hidden = left === 0;
    const open = asked.length + others.length;
    byId("shown-details").textContent = articles.size === 0 ? "" :
      `Showing the details of ${count(open)} ${open === 1 ? "application" : "applications"}. A link in the table opens others; the text filter searches all.`;
  };
  const update = () => {
    most = FIRST;
    mostDetails = FIRST_DETAILS;
    opened.clear();
    matching = order.filter(matches());
    show();
    showDetails();
  };

  let sorted = null;
  const unsort = () => {
    order = rows;
    sorted = null;
    tables.mark(heads, -1, false);
  };
  const sort = (column, descending) => {
    order = tables.sorted(rows, heads[column], column, descending);
    sorted = (descending ? "-" : "") + heads[column].dataset.key;
    tables.mark(heads, column, descending);
  };

  // The address: "#target?user=alice&sort=-wasted". Both parts are optional.
  const address = () => {
    const [target, query] = location.hash.slice(1).split(/\?(.*)/s);
    try {
      return { target: decodeURIComponent(target), query };
    } catch {
      return { target: "", query };
    }
  };
  const remember = () => {
    const query = new URLSearchParams();
    for (const name of ["text", ...SELECTS]) {
      const { value } = control(name);
      if (value !== "" && value !== "0") query.set(name, value);
    }
    if (sorted !== null) query.set("sort", sorted);
    const { target } = address();
    const state = query.size > 0 ? `${encodeURIComponent(target)}?${query}` : encodeURIComponent(target);
    if (state === location.hash.slice(1)) return;
    try {
      history.replaceState(null, "", `#${state}`);
    } catch {
      // Some frames may not change their address. The filters work without.
    }
  };
  const recall = (query) => {
    const wanted = new URLSearchParams(query);
    control("text").value = wanted.get("text") ?? "";
    for (const name of SELECTS) {
      const select = control(name);
      select.value = wanted.get(name) ?? "";
      if (select.selectedIndex < 0) select.selectedIndex = 0;
    }
    const key = wanted.get("sort") ?? "";
    const column = columnOf(key.replace(/^-/, ""));
    if (column >= 0) sort(column, key.startsWith("-"));
  };

  // The details that contain an element that is not in the document now.
  const detailWith = (id) => {
    const place = source.indexOf(` id="${id}"`);
    const holds = (detail) => detail.from <= place && place < (detail.to ?? Infinity);
    return articles.get(id) ?? (place < 0 ? undefined : details.find(holds));
  };
  // A link to one run's finding leads to the same finding of another run, if that run is not in this report.
  const known = (id) => {
    for (let name = id; name !== ""; name = name.slice(0, Math.max(0, name.lastIndexOf("-")))) {
      if (byId(name) || detailWith(name)) return name;
      if (!/^[aft]-[0-9a-f]+-/.test(name)) return null;
    }
    return null;
  };
  // A part that was never drawn has an assumed height until then: drawing it later would move a target below it.
  const drawUpTo = (element) => {
    for (const article of list.children) {
      if (element.compareDocumentPosition(article) & Node.DOCUMENT_POSITION_FOLLOWING) return;
      article.classList.add("drawn");
      reachFlags(article);
    }
  };
  const reveal = (scrolls) => {
    const { target } = address();
    const id = target === "" ? null : known(target);
    if (id === null) return;
    const hidden = byId(id) ? undefined : detailWith(id);
    if (hidden) {
      opened.delete(hidden);
      opened.add(hidden);
      showDetails();
    }
    const element = byId(id);
    let unfolded = false;
    for (let outer = element; outer; outer = outer.parentElement) {
      if (outer.tagName === "DETAILS" && !outer.open) unfolded = outer.open = true;
    }
    if (scrolls || hidden || unfolded || id !== target) {
      drawUpTo(element);
      element.scrollIntoView();
      if (element.tabIndex >= -1 && element.hasAttribute("tabindex")) element.focus({ preventScroll: true });
    }
  };
  const follow = () => {
    const { query } = address();
    if (query !== undefined) {
      recall(query);
      update();
    }
    reveal(query !== undefined);
    if (query === undefined) remember();
  };

  tables.onSort(heads, (column, descending) => {
    sort(column, descending);
    update();
    remember();
  });
  let timer;
  control("text").addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(afterCollecting, 80, () => { update(); remember(); });
  });
  SELECTS.forEach((name) => control(name).addEventListener("change", () => { update(); remember(); }));
  byId("f-clear").addEventListener("click", () => {
    control("text").value = "";
    SELECTS.forEach((name) => { control(name).selectedIndex = 0; });
    unsort();
    update();
    remember();
    control("text").focus();
  });
  // Rows that are shown stay: to insert all of them again would take longer with each click.
  byId("more-rows").addEventListener("click", () => {
    body.append(...matching.slice(most, most + MORE).map((row) => row.element));
    most += MORE;
    told();
  });
  byId("more-articles").addEventListener("click", () => { mostDetails += FIRST_DETAILS; showDetails(); });
  // Links of the overview choose what the table shows.
  document.querySelectorAll("a[data-filter]").forEach((link) => { link.href += `?${link.dataset.filter}`; });

  const copied = (button, done) => {
    button.textContent = done ? "Copied" : "Press Ctrl+C";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  };
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("button.copy");
    if (!button) return;
    const code = button.parentElement.querySelector("code");
    // Selected in any case: a page that may not write to the clipboard leaves the last step to the reader.
    getSelection().selectAllChildren(code);
    const written = navigator.clipboard?.writeText(code.textContent.trim()) ?? Promise.reject(new Error("no clipboard"));
    written.then(() => copied(button, true), () => copied(button, false));
  });

  addEventListener("keydown", (event) => {
    const isTyped = event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.("input, select, textarea");
    if (event.key !== "/" || isTyped) return;
    event.preventDefault();
    control("text").focus();
  });
  addEventListener("hashchange", follow);
  addEventListener("beforeprint", () => {
    body.replaceChildren(...matching.slice(0, PRINTED_ROWS).map((row) => row.element));
    if (opened.size > 0) list.replaceChildren(...[...opened].reverse().map(made));
    byId("shown").textContent = `${count(Math.min(matching.length, PRINTED_ROWS))} of ${count(matching.length)} matching applications (${count(rows.length)} in total).`;
  });
  addEventListener("afterprint", () => { show(); showDetails(); });

  byId("filters").hidden = false;
  byId("rows").classList.add("ready");
  list.classList.add("ready");
  // The browser scrolls to the target of a new page, but when it did, the list was not ready. A page that is shown again
  // keeps its place.
  const isNew = performance.getEntriesByType("navigation")[0]?.type !== "back_forward";
  // When the user navigates back to the page, the browser fills in the controls again.
  addEventListener("pageshow", (event) => {
    if (address().query === undefined) update();
    reveal(isNew && !event.persisted);
  });
  update();
  follow();
  whenIdle(collect);
})();
