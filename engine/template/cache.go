package template

import (
	"container/list"
	"sync"
)

// keptShapes bounds how many parsed skeletons a Set keeps; keptBytes bounds
// about what they take, and a quarter of it what one may take.
const (
	keptShapes = 4096
	keptBytes  = 16 << 20
)

// A shapeCache keeps the parsed skeletons by their text: those least recently
// used go first.
type shapeCache struct {
	mu     sync.Mutex
	byText map[string]*list.Element
	recent *list.List // of *keptShape, most recent first
	bytes  int
	hits   uint64
	misses uint64
}

type keptShape struct {
	text string
	root *node
	err  error
	size int
}

func newShapeCache() *shapeCache {
	return &shapeCache{byText: map[string]*list.Element{}, recent: list.New()}
}

// parse returns the shape of a skeleton, parsing it if it is new. The errors
// of skeletons that do not parse are kept as well.
func (c *shapeCache) parse(text []byte) (*node, error) {
	c.mu.Lock()
	if e, ok := c.byText[string(text)]; ok {
		c.recent.MoveToFront(e)
		c.hits++
		c.mu.Unlock()
		return e.Value.(*keptShape).root, e.Value.(*keptShape).err
	}
	c.misses++
	c.mu.Unlock()
	kept := &keptShape{text: string(text)}
	kept.root, kept.err = parseShape(kept.text)
	kept.size = len(kept.text) + shapeBytes*kept.root.countNodes()
	if kept.size <= keptBytes/4 {
		c.addShape(kept)
	}
	return kept.root, kept.err
}

// addShape adds a parsed skeleton, and removes those that were used least recently.
func (c *shapeCache) addShape(kept *keptShape) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, there := c.byText[kept.text]; there {
		return
	}
	c.byText[kept.text] = c.recent.PushFront(kept)
	c.bytes += kept.size
	for c.recent.Len() > keptShapes || c.bytes > keptBytes {
		last := c.recent.Remove(c.recent.Back()).(*keptShape)
		delete(c.byText, last.text)
		c.bytes -= last.size
	}
}

// shapeBytes is about what a node takes.
const shapeBytes = 200

// countNodes returns the number of nodes.
func (n *node) countNodes() int {
	if n == nil {
		return 0
	}
	all := 1 + len(n.parts)
	for _, e := range n.entries {
		all += e.key.countNodes() + e.value.countNodes()
	}
	for _, item := range n.items {
		all += item.countNodes()
	}
	return all
}

// CacheUse tells how many skeletons were found parsed and how many were not
// since it was asked last.
func (s *Set) CacheUse() (hits, misses uint64) {
	s.shapes.mu.Lock()
	defer s.shapes.mu.Unlock()
	hits, misses = s.shapes.hits, s.shapes.misses
	s.shapes.hits, s.shapes.misses = 0, 0
	return hits, misses
}
