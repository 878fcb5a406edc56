import { Dep, Idempotency, Path, Route } from "usher-http";
import { store } from "./store.ts";

/** What the routes below `/orders` have in common. */
export const orders = Route.group({ prefix: Path.of("orders"), inputs: { store }, tags: ["Orders"] });

const tx = Dep.transaction(store);

/** The answer to an `idempotency-key` is kept in the request's own transaction. Anybody may place orders, so keys have no owner. */
const once = Idempotency.by(
  Dep.map(tx, ({ answers }) => answers),
  { caller: Dep.return("everybody"), bare: true },
);

/** The ones that change orders: all that such a request does is one transaction, which a refusal rolls back. */
export const changes = orders.group({ inputs: { tx, once } });
