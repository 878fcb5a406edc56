/** Run by each runtime: a hub over the relay of `usher-http/postgres`. */
import { relay } from "../../../adapters/postgres/index.ts";
import { main } from "../../support/relays/main.ts";

await main(relay);
