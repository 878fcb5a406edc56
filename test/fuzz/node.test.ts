import { node22, node24, nodeNewest, nodeOldest } from "../conformance/targets/node.ts";
import { survives } from "./survival.ts";

for (const target of [nodeOldest, node22, node24, nodeNewest]) survives(target);
