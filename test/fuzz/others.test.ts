import { workerd } from "../conformance/targets/workers.ts";
import { whatwg } from "../conformance/targets/whatwg.ts";
import { survives } from "./survival.ts";

for (const target of [whatwg, workerd]) survives(target);
