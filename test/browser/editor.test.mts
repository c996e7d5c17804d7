/** A new user in n8n's editor: one n8n, and one tab of a browser. */
import { closeEditor, errors, openEditor } from './editor.mts';
import './firstWorkflow.mts';
import './panels.mts';
import './pictures.mts';
import './sandboxPages.mts';

jest.setTimeout(300_000);

beforeAll(openEditor);
afterAll(closeEditor, 60_000);

it('causes no errors in the browser', () => {
	expect(errors).toEqual([]);
});
