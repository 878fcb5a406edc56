/** Run by each runtime: a hub over the relay of `usher-http/redis`. */
import { relay } from "../../../adapters/redis/index.ts";
import { main } from "../../support/relays/main.ts";

await main(relay);
