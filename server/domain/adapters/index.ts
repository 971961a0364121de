export { aliasVersions, createAlias, getAlias, listAliases, promote } from "./aliases";
export { bindRecipe } from "./bind";
export { clearDefault, getDefault, setDefault } from "./defaults";
export { remove } from "./delete";
export { type Described, insertAdapter, type KnownSource, nameTaken } from "./insert";
export { nameKey } from "./names";
export { type Place, placeOf } from "./place";
export { get, list } from "./read";
export { register } from "./register";
