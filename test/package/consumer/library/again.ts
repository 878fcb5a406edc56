// Every type again, in a file that imports nothing of the package: what the others' imports name has a name without them, too.
import * as database from "./database.js";
import * as helpers from "./helpers.js";
import * as inputs from "./inputs.js";
import * as routes from "./routes.js";
import * as servers from "./servers.js";

export const again = { ...database, ...helpers, ...inputs, ...routes, ...servers };
