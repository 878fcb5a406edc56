/** Run by workerd: routes that pass on what others answer. */
import { worker } from "../../adapters/workers/index.ts";
import { echoes, routes, using } from "./routes.ts";
import { options, routes as rules } from "./rules-routes.ts";

// oxlint-disable-next-line import/no-default-export -- what Workers serve
export default worker([...routes, ...echoes, using, ...rules], options);
