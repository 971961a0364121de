import type { Tensor } from "./header";

/** How the maker names the two matrices of a module. */
export type LoraNaming = "kohya" | "peft" | "diffusers";

/** A module that is adapted: its name without the ending, and the two matrices whose product is added to it. */
export type LoraPair = { module: string; naming: LoraNaming; down: Tensor; up: Tensor };
