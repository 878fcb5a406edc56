import { apiOf } from "./api.ts";
import { find, newKey, onSubmit, show } from "./page.ts";

const api = apiOf();
const form = find("#import", HTMLFormElement);
const input = find("#orders", HTMLInputElement);
const outcome = find("#outcome", HTMLElement);
const table = find("#problems", HTMLTableElement);

/** Of the chosen file: sent again after a lost connection, it is placed once. */
let key = newKey();

type Problems = readonly { readonly at: string; readonly message: string }[];

/** Sends the form's file without leaving the page, and shows what was placed or what is wrong. */
export function importFiles(): void {
  onSubmit(form, sendFile);
  form.addEventListener("change", () => {
    key = newKey();
    // The message is about the previous file.
    say("", "");
  });
}

async function sendFile(): Promise<void> {
  const [orders] = input.files ?? [];
  if (orders === undefined) return;
  say("", "");
  const placed = await api["POST /orders/import"]({ form: { orders }, headers: { "idempotency-key": key } });
  if (placed.ok) {
    say("placed", counted(placed.value.placed, "order was placed.", "orders were placed."));
    form.reset();
    key = newKey();
    return;
  }
  switch (placed.error) {
    case "invalid": {
      const wrong = counted(placed.problems.length, "thing is wrong.", "things are wrong.");
      return say("wrong", `Nothing was placed: ${wrong}`, placed.problems);
    }
    case "unreachable":
      return say(
        "wrong",
        "There was no answer. Send it again: its orders are placed once. " +
          "Choose the file again if it has changed; it can have 10 MiB at most.",
      );
    default:
      return say("wrong", `Nothing was placed. ${placed.message}`);
  }
}

function say(kind: "placed" | "wrong" | "", message: string, problems: Problems = []): void {
  show(outcome, kind, message);
  table.hidden = problems.length === 0;
  table.tBodies[0]?.replaceChildren(...problems.map(rowOf));
}

/** Line and column, from `form.orders[3].quantity`; a problem of the whole file has neither. */
function rowOf({ at, message }: Problems[number]): HTMLTableRowElement {
  const [, line = "", column = ""] = /\[(\d+)\](?:\.(\w+))?$/.exec(at) ?? [];
  const row = document.createElement("tr");
  for (const text of [line, column, message]) row.insertCell().textContent = text;
  return row;
}

function counted(count: number, one: string, several: string): string {
  return count === 1 ? `1 ${one}` : `${count.toLocaleString("en")} ${several}`;
}
