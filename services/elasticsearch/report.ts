/** Messages for operators, in the shape of pino's logger. */
export type Report = {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
};
