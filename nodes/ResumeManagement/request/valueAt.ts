import { isObject } from './isObject';

/** What stands at a dotted path, such as `data.users`; undefined where nothing does. */
export function valueAt(value: unknown, path: string): unknown {
	return path.split('.').reduce((inner, key) => (isObject(inner) ? inner[key] : undefined), value);
}
