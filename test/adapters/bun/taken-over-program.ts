/** Run by Bun: WebSockets that are compared with a model. */
import { serve } from "../../../adapters/bun/index.ts";
import { main } from "../../support/taken-over/main.ts";

await main(serve);
