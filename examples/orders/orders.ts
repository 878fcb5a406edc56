import { Dep, Path, Route } from "usher-http";
import { store } from "./store.ts";

/** What the routes below `/orders` have in common. */
export const orders = Route.group({ prefix: Path.of("orders"), inputs: { store }, tags: ["Orders"] });

/** The ones that change orders: all that such a request does is one transaction, which a refusal rolls back. */
export const changes = orders.group({ inputs: { tx: Dep.transaction(store) } });
