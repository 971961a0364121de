/** A mistake as somebody could make it, and the test file that has to notice. */
export type Fault = {
  name: string;
  file: string;
  /** Stands in the file exactly once. */
  find: string;
  replace: string;
  caughtBy: string;
};

export const FAULTS: Fault[] = [];
