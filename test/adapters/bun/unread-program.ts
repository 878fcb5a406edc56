/** Run by Bun: what clients read nothing of. */
import { serve } from "../../../adapters/bun/index.ts";
import { main } from "../../support/spawned/unread.ts";

await main(serve);
