/** A person's pages use the same frame as an organization's. */
export { default } from "../billing/layout";
