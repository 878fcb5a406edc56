import { deno } from "../conformance/targets/deno.ts";
import { survives } from "./survival.ts";

survives(deno);
