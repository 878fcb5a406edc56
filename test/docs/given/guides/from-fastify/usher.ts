/** The program of the page for users of Express, which this page leads to. */
import { App } from "usher-http";

export const app: App = App.make([]);
