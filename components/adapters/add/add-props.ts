import type { ModelAdapter } from "@/server/contract/adapters";

/** The props of every form that adds an adapter. */
export type AddProps = {
  projectId: string;
  environment: string;
  onAdded(adapter: ModelAdapter, words: string): void;
};
