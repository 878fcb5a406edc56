import { conforms } from "./conformance.ts";
import { nodeNewest } from "./targets/node.ts";

conforms(nodeNewest);
