export { default } from "../operator/layout";
