// A text that is typed is sent to this computer only; the answer says what each annotator would say.
const tryForm = document.getElementById("try");
const tryText = document.getElementById("try-text");
const tryOutput = document.getElementById("try-output");
const REST = 80; // characters after the last part that was read, which are shown
const MANY = 8; // annotators from which they can be filtered

const element = (kind, words, className) => {
  const made = document.createElement(kind);
  made.textContent = words;
  if (className) made.className = className;
  return made;
};

const looked = (text, parts) => {
  const shown = element("div", "", "looked");
  const letters = [...text]; // places count characters, not the halves of an emoji
  const piece = (from, to) => letters.slice(from, to).join("");
  const most = Math.max(...parts.map((part) => part[2]), 1e-9);
  let at = 0;
  for (const [begin, end, weight] of parts) {
    const mark = element("mark", piece(begin, end));
    mark.style.setProperty("--weight", weight / most);
    mark.title = weight.toFixed(3);
    shown.append(piece(at, begin), mark);
    at = end;
  }
  const rest = piece(at);
  shown.append(letters.length - at > REST ? `${piece(at, at + REST)}… (the model reads no further)` : rest);
  return shown;
};

const annotatorRow = (text, row, attends) => {
  const line = document.createElement("tr");
  line.dataset.annotator = row.annotator;
  const name = element("td", "", "words short");
  const button = element("button", row.annotator);
  button.type = "button";
  button.dataset.pick = "";
  name.append(button);
  line.append(name, element("td", row.answer, "words short"));
  line.append(element("td", row.probability === null ? "" : row.probability.toFixed(2)));
  if (attends) {
    const where = element("td", "", "words long");
    where.append(looked(text, row.attention));
    line.append(where);
  }
  return line;
};

const annotatorTable = (text, rows, id) => {
  const attends = rows.some((row) => row.attention.length);
  const table = document.createElement("table");
  table.id = id;
  const head = table.createTHead().insertRow();
  for (const name of ["annotator", "answer", "probability", ...(attends ? ["looks at"] : [])]) {
    const header = element("th", "", name === "probability" ? "" : name === "looks at" ? "words long" : "words short");
    const button = element("button", name);
    button.type = "button";
    button.dataset.sortBy = "";
    header.scope = "col";
    header.append(button);
    head.append(header);
  }
  table.createTBody().append(...rows.map((row) => annotatorRow(text, row, attends)));
  return table;
};

const showAnswers = (text, questions) => {
  tryOutput.replaceChildren();
  Object.entries(questions).forEach(([question, answers], number) => {
    tryOutput.append(element("h3", `${question}: ${answers.consensus}`));
    const shares = Object.entries(answers.shares).sort((a, b) => b[1] - a[1]);
    const words = shares.map(([value, share]) => `${value} ${(100 * share).toFixed(0)} %`).join(", ");
    if (words) tryOutput.append(element("p", `Predicted shares of answers: ${words}.`));
    if (!answers.annotators.length) {
      tryOutput.append(element("p", "This model does not predict each annotator."));
      return;
    }
    const id = `try-${number}`;
    if (answers.annotators.length >= MANY) {
      const label = element("label", "Filter ");
      const filter = document.createElement("input");
      filter.type = "search";
      filter.dataset.filter = id;
      label.append(filter);
      const tools = element("div", "", "tools");
      tools.append(label);
      tryOutput.append(tools);
    }
    tryOutput.append(annotatorTable(text, answers.annotators, id));
  });
  showPicked();
};

const predict = async (text) => {
  try {
    const reply = await fetch("predict", {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Token": document.querySelector("meta[name=token]").content },
      body: JSON.stringify({ text }),
    });
    const content = await reply.json();
    if (reply.ok) showAnswers(text, content);
    else tryOutput.textContent = content.error;
  } catch {
    tryOutput.textContent = "No answer. Is dissensus serve still running? Start it again and open the address that it prints.";
  }
};

tryForm.addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = tryForm.querySelector("button");
  if (button.disabled) return;
  button.disabled = true;
  tryOutput.textContent = "Predicting…";
  await predict(tryText.value);
  button.disabled = false;
});

tryText.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) tryForm.requestSubmit();
});
