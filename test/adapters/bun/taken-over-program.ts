/** Run by Bun: WebSockets for a model of them. */
import { serve } from "../../../adapters/bun/index.ts";
import { main } from "../../support/taken-over/main.ts";

await main(serve);
