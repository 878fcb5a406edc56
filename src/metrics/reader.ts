/** OpenTelemetry's metric reader, as far as it is used. */
export interface MetricReader {
  collect(): Promise<{ readonly resourceMetrics: object }>;
}
