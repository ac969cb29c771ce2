"use strict";
// Sort and filter tables, pick annotators, and save figures and tables. No request is ever made.

const cellValue = (row, column) => {
  const cell = row.cells[column];
  const sort = cell.dataset.sort;
  return sort === undefined ? cell.textContent.trim().toLowerCase() : sort === "" ? null : Number(sort);
};

const sortTable = (table, column, header) => {
  const down = header.getAttribute("aria-sort") === "descending";
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", down ? "ascending" : "descending");
  const sign = down ? 1 : -1;
  const rows = [...table.tBodies[0].rows];
  rows.sort((a, b) => {
    const [x, y] = [cellValue(a, column), cellValue(b, column)];
    if (x === null || y === null) return (x === null) - (y === null);
    return sign * (typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y)));
  });
  table.tBodies[0].append(...rows);
};

const picked = new Set();
const picker = document.getElementById("picker");
const annotators = [...new Set([...document.querySelectorAll("[data-annotator]")].map((one) => one.dataset.annotator))];
picker.hidden = annotators.length === 0;
document.getElementById("annotator-names").append(...annotators.sort().map((name) => new Option("", name)));

const pick = (name) => {
  if (!picked.delete(name)) picked.add(name);
  showPicked();
};

const showPicked = () => {
  document.getElementById("picked").textContent = [...picked].join(", ");
  for (const element of document.querySelectorAll("[data-annotator]")) {
    const chosen = picked.has(element.dataset.annotator);
    element.classList.toggle("picked", chosen);
    const button = element.querySelector("button");
    if (button) button.setAttribute("aria-pressed", String(chosen));
  }
  for (const svg of document.querySelectorAll("figure svg"))
    svg.classList.toggle("picking", picked.size > 0 && svg.querySelector("[data-annotator]") !== null);
};

// The numbers of a small picture appear when the pointer is over it.
document.addEventListener("pointerover", (event) => {
  const picture = event.target.closest(".bar");
  if (picture) picture.closest("td").title = picture.getAttribute("aria-label");
});

const save = (name, kind, content) => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type: kind }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
};

const csvCell = (value) => {
  const text = value === null || value === undefined ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

const data = JSON.parse(document.getElementById("data").textContent);

document.addEventListener("click", (event) => {
  const target = event.target.closest("[data-sort-by], [data-pick], [data-unpick], [data-csv], [data-svg], g[data-annotator]");
  if (!target) return;
  if (target.dataset.sortBy !== undefined) {
    const header = target.closest("th");
    sortTable(target.closest("table"), header.cellIndex, header);
  } else if (target.dataset.unpick !== undefined) {
    picked.clear();
    showPicked();
  } else if (target.dataset.pick !== undefined) pick(target.closest("[data-annotator]").dataset.annotator);
  else if (target.dataset.csv !== undefined) {
    const table = data[target.dataset.csv];
    save(`${table.name}.csv`, "text/csv", [table.columns, ...table.rows].map((row) => row.map(csvCell).join(",")).join("\n") + "\n");
  } else if (target.dataset.svg !== undefined) {
    const svg = target.closest("figure").querySelector("svg");
    save(`${data[target.dataset.svg].name}.svg`, "image/svg+xml", new XMLSerializer().serializeToString(svg));
  } else pick(target.dataset.annotator);
});

picker.addEventListener("submit", (event) => {
  event.preventDefault();
  const box = picker.querySelector("input");
  const name = annotators.find((one) => one.toLowerCase() === box.value.trim().toLowerCase());
  if (name === undefined) document.getElementById("picked").textContent = `no annotator “${box.value}” on this page`;
  else {
    pick(name);
    box.value = "";
  }
});

document.addEventListener("input", (event) => {
  if (!event.target.matches("[data-filter]")) return;
  const wanted = event.target.value.trim().toLowerCase();
  const table = document.getElementById(event.target.dataset.filter);
  for (const row of table.tBodies[0].rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
});

// A link to a section opens it.
const openSection = () => {
  const section = document.getElementById(location.hash.slice(1))?.closest("details");
  if (section) section.open = true;
};
addEventListener("hashchange", openSection);
openSection();
const all = document.querySelector("[data-open]");
all.addEventListener("click", () => {
  const open = all.getAttribute("aria-pressed") !== "true";
  for (const section of document.querySelectorAll("details.section")) section.open = open;
  all.setAttribute("aria-pressed", String(open));
  all.textContent = open ? "Close all" : "Open all";
});
