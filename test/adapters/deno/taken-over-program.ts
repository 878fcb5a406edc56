/** Run by Deno: WebSockets for a model of them. */
import { serve } from "../../../adapters/deno/index.ts";
import { main } from "../../support/taken-over/main.ts";

await main(serve);
