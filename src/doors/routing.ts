/** Routes that an adapter makes: paths, metadata, tools. */
export { deadline, empty, hidden, key, operationId } from "../routing/meta.ts";
export type { Meta, MetaKey } from "../routing/meta.ts";
export { restWithEmpty } from "../routing/mounted.ts";
export { param } from "../routing/param.ts";
export { get, post } from "../routing/route.ts";
export type { Route } from "../routing/route.ts";
export { toolKey } from "../routing/tool.ts";
export type { Tool } from "../routing/tool.ts";
export { wrongMembers } from "../routing/wrong-members.ts";
