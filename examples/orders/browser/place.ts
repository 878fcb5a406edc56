import { apiOf } from "./api.ts";
import { find, newKey, onSubmit, show } from "./page.ts";

const api = apiOf();
const form = find("#place", HTMLFormElement);
const item = find("#item", HTMLInputElement);
const quantity = find("#quantity", HTMLInputElement);
const outcome = find("#placed", HTMLElement);

/** Of the order in the form: sent again after a lost connection, it is placed once. */
let key = newKey();

/** Places an order without leaving the page. The feed brings it into the list. */
export function placeOrders(): void {
  form.closest("section")?.removeAttribute("hidden");
  onSubmit(form, placeOrder);
  form.addEventListener("input", () => {
    key = newKey();
    show(outcome, "", "");
  });
}

async function placeOrder(): Promise<void> {
  const json = { item: item.value, quantity: Number(quantity.value) };
  const placed = await api["POST /orders"]({ json, headers: { "idempotency-key": key } });
  if (placed.ok) {
    show(outcome, "placed", `Order ${placed.value.id} is placed.`);
    key = newKey();
    form.reset();
    return item.focus();
  }
  switch (placed.error) {
    case "invalid":
      return show(outcome, "wrong", `Nothing was placed. ${placed.problems.map(({ message }) => message).join(" ")}`);
    case "unreachable":
      return show(outcome, "wrong", "There was no answer. Place it again: it is placed once.");
    default:
      return show(outcome, "wrong", `Nothing was placed. ${placed.message}`);
  }
}
