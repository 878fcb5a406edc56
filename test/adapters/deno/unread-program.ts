/** Run by Deno: what clients read nothing of. */
import { serve } from "../../../adapters/deno/index.ts";
import { main } from "../../support/spawned/unread.ts";

await main(serve);
