import { conforms } from "./conformance.ts";
import { workerd } from "./targets/workers.ts";

conforms(workerd);
