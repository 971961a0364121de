/** What belongs to a person is framed as what belongs to an organization is. */
export { default } from "../billing/layout";
