export { credit } from "./credit";
