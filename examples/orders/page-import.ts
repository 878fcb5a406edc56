/** Sends the form without leaving the page, and shows in it what was placed or what is wrong. */
export const importScript = `const form = document.querySelector("#import");
const outcome = document.querySelector("#outcome");
const table = document.querySelector("#problems");

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  if (form.ariaBusy === "true") return;
  form.ariaBusy = "true";
  show("", "");
  try {
    const response = await fetch(form.action, { method: "POST", body: new FormData(form) });
    const answer = await response.json();
    if (response.ok) {
      show("placed", counted(answer.placed, "order was placed.", "orders were placed."));
      form.reset();
    } else if (answer.problems === undefined) {
      show("wrong", "Nothing was placed. " + answer.message);
    } else {
      const wrong = counted(answer.problems.length, "thing is wrong.", "things are wrong.");
      show("wrong", "Nothing was placed: " + wrong, answer.problems);
    }
  } catch {
    show("wrong", "The file could not be sent. Choose it again if it has changed; it can have 10 MiB at most.");
  } finally {
    form.ariaBusy = null;
  }
});

// What was said is of the file that was chosen before.
form.addEventListener("change", () => show("", ""));

function show(kind, message, problems = []) {
  outcome.className = "outcome " + kind;
  outcome.textContent = message;
  table.hidden = problems.length === 0;
  table.tBodies[0].replaceChildren(...problems.map(rowOf));
}

/** Of form.orders[3].quantity the line and the column; a problem of the whole file has neither. */
function rowOf({ at, message }) {
  const [, line = "", column = ""] = /\\[(\\d+)\\](?:\\.(\\w+))?$/.exec(at) ?? [];
  const row = document.createElement("tr");
  for (const text of [line, column, message]) row.insertCell().textContent = text;
  return row;
}

function counted(count, one, several) {
  return count === 1 ? "1 " + one : count.toLocaleString("en") + " " + several;
}
`;
