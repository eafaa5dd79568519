// Package plan decides, completely and before anything is done, what one reconciliation does:
// which children to create, update, recreate or leave alone, and which of them have to wait
// since an earlier attempt failed or did not last; which to prune, and which deletions need an
// approval; which objects of others to patch, and which patches to release; changes of our
// finalizer and of annotations of the resource; what the status reports, and when to look
// again. A resource that is being deleted is planned in the same way, with nothing wanted.
//
// [Make] is pure: a plan depends on its [Input] alone, and can be printed.
//
// Without it, users lose decisions that can be read before they are carried out.
package plan
