/** Run by Deno: WebSockets that are compared with a model. */
import { serve } from "../../../adapters/deno/index.ts";
import { main } from "../../support/taken-over/main.ts";

await main(serve);
