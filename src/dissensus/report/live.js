// A text that is typed is sent to this computer only; the answer says what each annotator would say.
const tryForm = document.getElementById("try");
const tryOutput = document.getElementById("try-output");
const cell = (row, words, kind) => {
  const element = document.createElement(kind);
  element.textContent = words;
  row.append(element);
  return element;
};

const looked = (text, parts) => {
  const shown = document.createElement("span");
  const letters = [...text]; // places count characters, not the halves of an emoji
  const piece = (from, to) => letters.slice(from, to).join("");
  const most = Math.max(...parts.map((part) => part[2]), 1e-9);
  let at = 0;
  for (const [begin, end, weight] of parts) {
    shown.append(piece(at, begin));
    const mark = document.createElement("mark");
    mark.textContent = piece(begin, end);
    mark.style.background = `rgba(230, 159, 0, ${(0.85 * weight) / most})`;
    mark.style.color = "inherit";
    shown.append(mark);
    at = end;
  }
  shown.append(piece(at));
  return shown;
};

const showAnswers = (text, questions) => {
  tryOutput.replaceChildren();
  for (const [question, answers] of Object.entries(questions)) {
    const title = document.createElement("h3");
    title.textContent = `${question}: ${answers.consensus}`;
    const shares = document.createElement("p");
    shares.textContent = Object.entries(answers.shares).map(([value, share]) => `${value} ${(100 * share).toFixed(0)} %`).join(", ");
    const table = document.createElement("table");
    const head = table.createTHead().insertRow();
    for (const name of ["annotator", "answer", "probability", "looks at"]) cell(head, name, "th");
    const body = table.createTBody();
    for (const row of answers.annotators) {
      const line = body.insertRow();
      cell(line, row.annotator, "td").className = "words";
      cell(line, row.answer, "td").className = "words";
      cell(line, row.probability === null ? "" : row.probability.toFixed(2), "td");
      const where = cell(line, "", "td");
      where.className = "words";
      if (row.attention.length) where.append(looked(text, row.attention));
    }
    if (!answers.annotators.length) {
      shares.textContent += ". This model does not tell annotators apart.";
      tryOutput.append(title, shares);
    } else tryOutput.append(title, shares, table);
  }
};

tryForm.addEventListener("submit", async (event) => {
  event.preventDefault();
  const text = document.getElementById("try-text").value;
  tryOutput.textContent = "…";
  const reply = await fetch("predict", {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Token": new URLSearchParams(location.search).get("token") },
    body: JSON.stringify({ text }),
  });
  const content = await reply.json();
  if (reply.ok) showAnswers(text, content);
  else tryOutput.textContent = content.error;
});
