/** The `Metrics` namespace: what the process does, in figures. */
export { routes } from "./routes.ts";
export type { MetricsOptions } from "./routes.ts";
export type { MetricsPackages } from "./prometheus.ts";
export type { MetricReader } from "./reader.ts";
