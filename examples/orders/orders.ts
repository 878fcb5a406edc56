import { Path, Route } from "usher-http";
import { store } from "./store.ts";

/** What the routes below `/orders` have in common. */
export const orders = Route.group({ prefix: Path.of("orders"), inputs: { store }, tags: ["Orders"] });
