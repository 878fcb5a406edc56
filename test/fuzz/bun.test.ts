import { bun } from "../conformance/targets/bun.ts";
import { survives } from "./survival.ts";

survives(bun);
