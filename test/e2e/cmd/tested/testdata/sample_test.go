//go:build sample

// Package sample is what TestShow tests.
package sample

import "testing"

func TestRight(t *testing.T) { t.Log("it is right") }

func TestSkipped(t *testing.T) { t.Skip("this machine lacks something") }

func TestParent(t *testing.T) {
	t.Run("Sibling", func(*testing.T) {})
	t.Run("Child", func(t *testing.T) {
		t.Skip("the child is absent")
	})
}
func TestWrong(t *testing.T) { t.Error("it is wrong") }
