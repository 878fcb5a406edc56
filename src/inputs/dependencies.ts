/** The `Dep` namespace: inputs made of inputs. */
export { all, constant as return, credential, join, map, problem, problems, refuse, uncached } from "./derive.ts";
export { bind } from "./bind.ts";
export { ofBody } from "./of-body.ts";
export { ofRequest } from "./of-request.ts";
export { ofResource, resource } from "./resource.ts";
export type { Dep } from "./dep.ts";
